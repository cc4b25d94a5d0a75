// Package peer asks and answers as bench/peers/worker.py does; the programs beside it say how a record set is read.
package peer

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Tally is what was read.
type Tally struct {
	records, offsets, timestamps, sizes int64

	digests bool
	crc     uint32
}

// Add counts a record.
func (t *Tally) Add(offset, timestamp int64, key, value []byte) {
	t.records++
	t.offsets += offset
	t.timestamps += timestamp
	t.sizes += int64(len(key) + len(value))
	if t.digests {
		t.digest(key)
		t.digest(value)
	}
}

func (t *Tally) digest(field []byte) {
	length := int32(len(field))
	if field == nil {
		length = -1
	}
	t.crc = crc32.Update(t.crc, crc32.IEEETable, binary.BigEndian.AppendUint32(nil, uint32(length)))
	t.crc = crc32.Update(t.crc, crc32.IEEETable, field)
}

// Decode visits every record of a record set.
type Decode func(data []byte, tally *Tally) error

// Names are those of Python's module time. A thread's own time says nothing here: goroutines and the garbage
// collector run on several.
var clocks = map[string]int32{
	"thread_time":  unix.CLOCK_PROCESS_CPUTIME_ID,
	"process_time": unix.CLOCK_PROCESS_CPUTIME_ID,
	"perf_counter": unix.CLOCK_MONOTONIC,
}

func now(clock int32) int64 {
	var time unix.Timespec
	if err := unix.ClockGettime(clock, &time); err != nil {
		panic(err)
	}
	return time.Nano()
}

func answer(question string, data []byte, decode Decode) (string, error) {
	if question == "answer" {
		tally := Tally{digests: true}
		err := decode(data, &tally)
		return fmt.Sprint(tally.records, tally.offsets, tally.timestamps, tally.crc), err
	}
	var calls int
	var name string
	if _, err := fmt.Sscan(question, &calls, &name); err != nil {
		return "", err
	}
	clock, known := clocks[name]
	if !known {
		return "", fmt.Errorf("no clock %s", name)
	}
	start := now(clock)
	for range calls {
		if err := decode(data, new(Tally)); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%.9f", float64(now(clock)-start)/1e9), nil
}

func fail(err any) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Main is the program: usage: PROGRAM decode PATH
func Main(decode Decode) {
	runtime.GOMAXPROCS(1)
	if len(os.Args) != 3 || os.Args[1] != "decode" {
		fail("usage: " + os.Args[0] + " decode PATH")
	}
	data, err := os.ReadFile(os.Args[2])
	if err != nil {
		fail(err)
	}
	questions := bufio.NewScanner(os.Stdin)
	for questions.Scan() {
		text, err := answer(questions.Text(), data, decode)
		if err != nil {
			fail(err)
		}
		fmt.Println(text)
	}
}
