package sarama

// DecodeRecordBatch reads one batch as the answer to a fetch does.
func DecodeRecordBatch(data []byte) (*RecordBatch, error) {
	batch := &RecordBatch{}
	return batch, decode(data, batch, nil)
}
