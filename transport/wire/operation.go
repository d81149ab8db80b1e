package wire

import "fmt"

// Operation says in the header of a frame what kind of request it is. (Iggy binary protocol, operations.)
type Operation uint8

// The operations of clients, in the order of their numbers.
const (
	OpRegister                  Operation = 1 // both logins
	OpNonReplicated             Operation = 2 // every command that reads or controls; the header has its code
	OpLogout                    Operation = 3
	OpCreateStream              Operation = 128
	OpDeleteStream              Operation = 130
	OpCreateTopic               Operation = 132
	OpDeleteTopic               Operation = 134
	OpCreatePartitions          Operation = 136
	OpDeletePartitions          Operation = 137
	OpDeleteSegments            Operation = 138
	OpCreateConsumerGroup       Operation = 139
	OpDeleteConsumerGroup       Operation = 140
	OpCreateUser                Operation = 141
	OpDeleteUser                Operation = 143
	OpChangePassword            Operation = 144
	OpUpdatePermissions         Operation = 145
	OpCreatePersonalAccessToken Operation = 146
	OpDeletePersonalAccessToken Operation = 147
	OpJoinConsumerGroup         Operation = 148
	OpLeaveConsumerGroup        Operation = 149
	OpUpdateResource            Operation = 150
	OpSendMessages              Operation = 160
	OpStoreConsumerOffset       Operation = 161
	OpDeleteConsumerOffset      Operation = 162
)

// Operations that servers make of a request, and may answer it with. See [Operation.Answers].
const (
	OpInternalCreateTopic      Operation = 64
	OpInternalCreatePartitions Operation = 65
	OpInternalDeleteSegments   Operation = 68
	OpInternalUpdateFirst      Operation = 72
	OpInternalUpdateLast       Operation = 74
)

// operationNames are the operations that a client may send.
var operationNames = map[Operation]string{
	OpRegister:                  "Register",
	OpNonReplicated:             "NonReplicated",
	OpLogout:                    "Logout",
	OpCreateStream:              "CreateStream",
	OpDeleteStream:              "DeleteStream",
	OpCreateTopic:               "CreateTopic",
	OpDeleteTopic:               "DeleteTopic",
	OpCreatePartitions:          "CreatePartitions",
	OpDeletePartitions:          "DeletePartitions",
	OpDeleteSegments:            "DeleteSegments",
	OpCreateConsumerGroup:       "CreateConsumerGroup",
	OpDeleteConsumerGroup:       "DeleteConsumerGroup",
	OpCreateUser:                "CreateUser",
	OpDeleteUser:                "DeleteUser",
	OpChangePassword:            "ChangePassword",
	OpUpdatePermissions:         "UpdatePermissions",
	OpCreatePersonalAccessToken: "CreatePersonalAccessToken",
	OpDeletePersonalAccessToken: "DeletePersonalAccessToken",
	OpJoinConsumerGroup:         "JoinConsumerGroup",
	OpLeaveConsumerGroup:        "LeaveConsumerGroup",
	OpUpdateResource:            "UpdateResource",
	OpSendMessages:              "SendMessages",
	OpStoreConsumerOffset:       "StoreConsumerOffset",
	OpDeleteConsumerOffset:      "DeleteConsumerOffset",
}

// String returns the name of the operation, or its number.
func (o Operation) String() string {
	if name, ok := operationNames[o]; ok {
		return name
	}
	return fmt.Sprintf("operation %d", uint8(o))
}

// IsClient says whether a client may send the operation.
func (o Operation) IsClient() bool {
	_, ok := operationNames[o]
	return ok
}

// IsMetadata says whether the operation changes metadata: streams, topics, groups, users.
func (o Operation) IsMetadata() bool {
	return o >= OpCreateStream && o <= OpUpdateResource && o != OpDeleteSegments && o.IsClient()
}

// IsPartition says whether the operation writes to a partition.
func (o Operation) IsPartition() bool { return o >= OpSendMessages && o <= OpDeleteConsumerOffset }

// HasChecksum says whether requests of the operation carry a checksum that names them, so that a server knows a repeat.
func (o Operation) HasChecksum() bool { return o != OpNonReplicated && !o.IsPartition() }

// Answers returns the operation of the request that a reply with this operation answers. It is the same, unless the
// server made another one of it.
func (o Operation) Answers() Operation {
	switch {
	case o == OpInternalCreateTopic:
		return OpCreateTopic
	case o == OpInternalCreatePartitions:
		return OpCreatePartitions
	case o == OpInternalDeleteSegments:
		return OpDeleteSegments
	case o >= OpInternalUpdateFirst && o <= OpInternalUpdateLast:
		return OpUpdateResource
	}
	return o
}

// ResultFramed says whether a reply with this operation has a result section in front of its payload. That of
// [OpRegister] has one too, if it has a body at all.
func (o Operation) ResultFramed() bool {
	return o.IsMetadata() || o.Answers() != o || o == OpStoreConsumerOffset || o == OpDeleteConsumerOffset
}
