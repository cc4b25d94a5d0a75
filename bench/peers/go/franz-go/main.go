// franz-go reads a record set as its client does with the partition of a fetch answer: CRC checked, default options.
package main

import (
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"recordpress-bench/peer"
)

var decompressor = kgo.DefaultDecompressor()

func decode(data []byte, tally *peer.Tally) error {
	fetched := kmsg.FetchResponseTopicPartition{RecordBatches: data}
	partition, _ := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{}, &fetched, decompressor, nil)
	for _, record := range partition.Records {
		tally.Add(record.Offset, record.Timestamp.UnixMilli(), record.Key, record.Value)
	}
	return partition.Err
}

func main() {
	peer.Main(decode)
}
