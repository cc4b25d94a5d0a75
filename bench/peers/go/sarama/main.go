// sarama reads a record set batch by batch, CRC checked. Its decoder is not exported: the file in _inside is added to
// the copy of the package that this program is built with.
package main

import (
	"encoding/binary"

	"github.com/IBM/sarama"

	"recordpress-bench/peer"
)

func decode(data []byte, tally *peer.Tally) error {
	for len(data) > 0 {
		size := 12 + binary.BigEndian.Uint32(data[8:])
		batch, err := sarama.DecodeRecordBatch(data[:size])
		if err != nil {
			return err
		}
		for _, record := range batch.Records {
			timestamp := batch.FirstTimestamp.Add(record.TimestampDelta)
			tally.Add(batch.FirstOffset+record.OffsetDelta, timestamp.UnixMilli(), record.Key, record.Value)
		}
		data = data[size:]
	}
	return nil
}

func main() {
	peer.Main(decode)
}
