"""The records of Kafka's internal topics, in the notation of `_messages`.

Facts from ``*.json`` files in Kafka's sources (4.4.0): group-coordinator, transaction-coordinator, share-coordinator,
metadata and storage, ConsumerProtocolSubscription and ConsumerProtocolAssignment. In __consumer_offsets,
__transaction_state and __share_group_state, a record's key begins with the number of its kind, which has one schema for
the key and one for the value.
"""

OFFSETS = """\
# LegacyOffsetCommit
key 0 0: group string, topic string, partition int32
value 0 0: offset int64, metadata string, commitTimestamp int64
# OffsetCommit
key 1 0: group string, topic string, partition int32
value 1 0-4 flexible 4+
  offset int64, leaderEpoch int32 3+, metadata string, commitTimestamp int64, expireTimestamp int64 1,
  topicId uuid 4+ tag 0
# GroupMetadata
key 2 0: group string
value 2 0-4 flexible 4+
  protocolType string, generation int32, protocol string?, leader string?, currentStateTimestamp int64 2+
  members []MemberMetadata
    memberId string, groupInstanceId string? 3+, clientId string, clientHost string, rebalanceTimeout int32 1+,
    sessionTimeout int32, subscription bytes, assignment bytes
# ConsumerGroupMetadata
key 3 0: groupId string
value 3 0 flexible 0+: epoch int32, metadataHash int64 tag 0
# ConsumerGroupPartitionMetadata
key 4 0: groupId string
value 4 0 flexible 0+
  topics []TopicMetadata
    topicId uuid, topicName string, numPartitions int32
    partitionMetadata []PartitionMetadata
      partition int32, racks []string
# ConsumerGroupMemberMetadata
key 5 0: groupId string, memberId string
value 5 0 flexible 0+
  instanceId string?, rackId string?, clientId string, clientHost string, subscribedTopicNames []string,
  subscribedTopicRegex string?, rebalanceTimeoutMs int32, serverAssignor string?
  classicMemberMetadata ClassicMemberMetadata? tag 0
    sessionTimeoutMs int32
    supportedProtocols []ClassicProtocol
      name string, metadata bytes
# ConsumerGroupTargetAssignmentMetadata
key 6 0: groupId string
value 6 0 flexible 0+: assignmentEpoch int32, assignmentTimestamp int64 tag 0
# ConsumerGroupTargetAssignmentMember
key 7 0: groupId string, memberId string
value 7 0 flexible 0+
  topicPartitions []TopicPartition
    topicId uuid, partitions []int32
# ConsumerGroupCurrentMemberAssignment
key 8 0: groupId string, memberId string
value 8 0 flexible 0+
  memberEpoch int32, previousMemberEpoch int32, state int8
  assignedPartitions []TopicPartitions
    topicId uuid, partitions []int32, assignmentEpochs []int32? tag 0
  partitionsPendingRevocation []TopicPartitions
# ShareGroupMemberMetadata
key 10 0: groupId string, memberId string
value 10 0 flexible 0+: rackId string?, clientId string, clientHost string, subscribedTopicNames []string
# ShareGroupMetadata
key 11 0: groupId string
value 11 0 flexible 0+: epoch int32, metadataHash int64
# ShareGroupTargetAssignmentMetadata
key 12 0: groupId string
value 12 0 flexible 0+: assignmentEpoch int32, assignmentTimestamp int64 tag 0
# ShareGroupTargetAssignmentMember
key 13 0: groupId string, memberId string
value 13 0 flexible 0+
  topicPartitions []TopicPartition
    topicId uuid, partitions []int32
# ShareGroupCurrentMemberAssignment
key 14 0: groupId string, memberId string
value 14 0 flexible 0+
  memberEpoch int32, previousMemberEpoch int32, state int8
  assignedPartitions []TopicPartitions
    topicId uuid, partitions []int32
# ShareGroupStatePartitionMetadata
key 15 0: groupId string
value 15 0 flexible 0+
  initializingTopics []TopicPartitionsInfo
    topicId uuid, topicName string, partitions []int32
  initializedTopics []TopicPartitionsInfo
  deletingTopics []TopicInfo
    topicId uuid, topicName string
# ConsumerGroupRegularExpression
key 16 0: groupId string, regularExpression string
value 16 0 flexible 0+: topics []string, version int64, timestamp int64
# StreamsGroupMetadata
key 17 0: groupId string
value 17 0 flexible 0+
  epoch int32, metadataHash int64, validatedTopologyEpoch int32 tag 0 =-1
  lastAssignmentConfigs []LastAssignmentConfig? tag 1
    key string, value string
  storedDescriptionTopologyEpoch int32 tag 2 =-1, failedDescriptionTopologyEpoch int32 tag 3 =-1
# StreamsGroupMemberMetadata
key 19 0: groupId string, memberId string
value 19 0 flexible 0+
  instanceId string?, rackId string?, clientId string, clientHost string, rebalanceTimeoutMs int32,
  topologyEpoch int32, processId string
  userEndpoint Endpoint?
    host string, port uint16
  clientTags []KeyValue
    key string, value string
# StreamsGroupTargetAssignmentMetadata
key 20 0: groupId string
value 20 0 flexible 0+: assignmentEpoch int32, assignmentTimestamp int64 tag 0
# StreamsGroupTargetAssignmentMember
key 21 0: groupId string, memberId string
value 21 0 flexible 0+
  activeTasks []TaskIds
    subtopologyId string, partitions []int32
  standbyTasks []TaskIds, warmupTasks []TaskIds
# StreamsGroupCurrentMemberAssignment
key 22 0: groupId string, memberId string
value 22 0 flexible 0+
  memberEpoch int32, previousMemberEpoch int32, state int8
  activeTasks []TaskIds
    subtopologyId string, partitions []int32, assignmentEpochs []int32? tag 0
  standbyTasks []TaskIds, warmupTasks []TaskIds, activeTasksPendingRevocation []TaskIds,
  standbyTasksPendingRevocation []TaskIds, warmupTasksPendingRevocation []TaskIds
# StreamsGroupTopology
key 23 0: groupId string
value 23 0 flexible 0+
  epoch int32
  subtopologies []Subtopology
    subtopologyId string, sourceTopics []string, sourceTopicRegex []string
    stateChangelogTopics []TopicInfo
      name string, partitions int32, replicationFactor int16
      topicConfigs []TopicConfig
        key string, value string
    repartitionSinkTopics []string, repartitionSourceTopics []TopicInfo
    copartitionGroups []CopartitionGroup
      sourceTopics []int16, sourceTopicRegex []int16, repartitionSourceTopics []int16
"""

TRANSACTION_LOG = """\
# TransactionLog
key 0 0: transactionalId string
value 0 0-1 flexible 1+
  producerId int64, previousProducerId int64 1+ tag 0 =-1, nextProducerId int64 1+ tag 1 =-1, producerEpoch int16,
  nextProducerEpoch int16 1+ tag 3 =-1, transactionTimeoutMs int32, transactionStatus int8
  transactionPartitions []PartitionsSchema?
    topic string, partitionIds []int32
  transactionLastUpdateTimestampMs int64, transactionStartTimestampMs int64, clientTransactionVersion int16 1+ tag 2
"""

SHARE_GROUP_STATE = """\
# ShareSnapshot
key 0 0: groupId string, topicId uuid, partition int32
value 0 0 flexible 0+
  snapshotEpoch int32, stateEpoch int32, leaderEpoch int32, startOffset int64, deliveryCompleteCount int32 tag 0 =-1,
  createTimestamp int64, writeTimestamp int64
  stateBatches []StateBatch
    firstOffset int64, lastOffset int64, deliveryState int8, deliveryCount int16
# ShareUpdate
key 1 0: groupId string, topicId uuid, partition int32
value 1 0 flexible 0+
  snapshotEpoch int32, leaderEpoch int32, startOffset int64, deliveryCompleteCount int32 tag 0 =-1
  stateBatches []StateBatch
    firstOffset int64, lastOffset int64, deliveryState int8, deliveryCount int16
"""

CLUSTER_METADATA = """\
REGISTER_BROKER_RECORD 0 0-4 flexible 0+
  brokerId int32, isMigratingZkBroker bool 2+, incarnationId uuid, brokerEpoch int64
  endPoints []BrokerEndpoint
    name string, host string, port uint16, securityProtocol int16
  features []BrokerFeature
    name string, minSupportedVersion int16, maxSupportedVersion int16
  rack string?, fenced bool, inControlledShutdown bool 1+, logDirs []uuid 3+ tag 0,
  cordonedLogDirs []uuid? 4+ tag 1 =null
UNREGISTER_BROKER_RECORD 1 0 flexible 0+: brokerId int32, brokerEpoch int64
TOPIC_RECORD 2 0 flexible 0+: name string, topicId uuid
PARTITION_RECORD 3 0-2 flexible 0+
  partitionId int32, topicId uuid, replicas []int32, isr []int32, removingReplicas []int32, addingReplicas []int32,
  leader int32, leaderRecoveryState int8 tag 0, leaderEpoch int32, partitionEpoch int32, directories []uuid 1+,
  eligibleLeaderReplicas []int32? 2+ tag 1 =null, lastKnownElr []int32? 2+ tag 2 =null
CONFIG_RECORD 4 0 flexible 0+: resourceType int8, resourceName string, name string, value string?
PARTITION_CHANGE_RECORD 5 0-2 flexible 0+
  partitionId int32, topicId uuid, isr []int32? tag 0 =null, leader int32 tag 1 =-2, replicas []int32? tag 2 =null,
  removingReplicas []int32? tag 3 =null, addingReplicas []int32? tag 4 =null, leaderRecoveryState int8 tag 5 =-1,
  directories []uuid? 1+ tag 8 =null, eligibleLeaderReplicas []int32? 2+ tag 6 =null,
  lastKnownElr []int32? 2+ tag 7 =null
FENCE_BROKER_RECORD 7 0 flexible 0+: id int32, epoch int64
UNFENCE_BROKER_RECORD 8 0 flexible 0+: id int32, epoch int64
REMOVE_TOPIC_RECORD 9 0 flexible 0+: topicId uuid
DELEGATION_TOKEN_RECORD 10 0 flexible 0+
  owner string, requester string, renewers []string, issueTimestamp int64, maxTimestamp int64,
  expirationTimestamp int64, tokenId string
USER_SCRAM_CREDENTIAL_RECORD 11 0 flexible 0+
  name string, mechanism int8, salt bytes, storedKey bytes, serverKey bytes, iterations int32
FEATURE_LEVEL_RECORD 12 0 flexible 0+: name string, featureLevel int16
CLIENT_QUOTA_RECORD 14 0 flexible 0+
  entity []EntityData
    entityType string, entityName string?
  key string, value float64, remove bool
PRODUCER_IDS_RECORD 15 0 flexible 0+: brokerId int32, brokerEpoch int64, nextProducerId int64
BROKER_REGISTRATION_CHANGE_RECORD 17 0-3 flexible 0+
  brokerId int32, brokerEpoch int64, fenced int8 tag 0, inControlledShutdown int8 1+ tag 1, logDirs []uuid 2+ tag 2,
  cordonedLogDirs []uuid? 3+ tag 3 =null
ACCESS_CONTROL_ENTRY_RECORD 18 0 flexible 0+
  id uuid, resourceType int8, resourceName string, patternType int8, principal string, host string, operation int8,
  permissionType int8
REMOVE_ACCESS_CONTROL_ENTRY_RECORD 19 0 flexible 0+: id uuid
NO_OP_RECORD 20 0 flexible 0+
ZK_MIGRATION_STATE_RECORD 21 0 flexible 0+: zkMigrationState int8
REMOVE_USER_SCRAM_CREDENTIAL_RECORD 22 0 flexible 0+: name string, mechanism int8
BEGIN_TRANSACTION_RECORD 23 0 flexible 0+: name string? tag 0 =null
END_TRANSACTION_RECORD 24 0 flexible 0+
ABORT_TRANSACTION_RECORD 25 0 flexible 0+: reason string? tag 0 =null
REMOVE_DELEGATION_TOKEN_RECORD 26 0 flexible 0+: tokenId string
REGISTER_CONTROLLER_RECORD 27 0 flexible 0+
  controllerId int32, incarnationId uuid, zkMigrationReady bool
  endPoints []ControllerEndpoint
    name string, host string, port uint16, securityProtocol int16
  features []ControllerFeature
    name string, minSupportedVersion int16, maxSupportedVersion int16
CLEAR_ELR_RECORD 28 0 flexible 0+: topicName string
UNREGISTER_CONTROLLER_RECORD 29 0 flexible 0+: controllerId int32
"""

CONSUMER_PROTOCOL_SUBSCRIPTION = """\
0-3
  topics []string, userData bytes?
  ownedPartitions []TopicPartition 1+
    topic string, partitions []int32
  generationId int32 2+, rackId string? 3+
"""

CONSUMER_PROTOCOL_ASSIGNMENT = """\
0-3
  assignedPartitions []TopicPartition
    topic string, partitions []int32
  userData bytes?
"""

REMOTE_LOG_METADATA = """\
RemoteLogSegmentMetadata 0 0 flexible 0+
  remoteLogSegmentId RemoteLogSegmentIdEntry
    topicIdPartition TopicIdPartitionEntry
      name string, id uuid, partition int32
    id uuid
  startOffset int64, endOffset int64, brokerId int32, maxTimestampMs int64, eventTimestampMs int64
  segmentLeaderEpochs []SegmentLeaderEpochEntry
    leaderEpoch int32, offset int64
  segmentSizeInBytes int32, customMetadata bytes?, remoteLogSegmentState int8, txnIndexEmpty bool tag 0
RemoteLogSegmentMetadataUpdate 1 0 flexible 0+
  remoteLogSegmentId RemoteLogSegmentIdEntry
    topicIdPartition TopicIdPartitionEntry
      name string, id uuid, partition int32
    id uuid
  brokerId int32, eventTimestampMs int64, customMetadata bytes?, remoteLogSegmentState int8
RemotePartitionDeleteMetadata 2 0 flexible 0+
  topicIdPartition TopicIdPartitionEntry
    name string, id uuid, partition int32
  brokerId int32, eventTimestampMs int64, remotePartitionDeleteState int8
RemoteLogSegmentMetadataSnapshot 3 0 flexible 0+
  segmentId uuid, startOffset int64, endOffset int64, brokerId int32, maxTimestampMs int64, eventTimestampMs int64
  segmentLeaderEpochs []SegmentLeaderEpochEntry
    leaderEpoch int32, offset int64
  segmentSizeInBytes int32, customMetadata bytes?, remoteLogSegmentState int8, txnIndexEmpty bool tag 0
"""
