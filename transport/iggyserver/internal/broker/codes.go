package broker

import "github.com/runnel-go/runnel/transport/wire"

// Codes of the protocol that only servers act on.
const (
	codeCannotChangePermissions  wire.Code = 49
	codeTooManyStreams           wire.Code = 1020
	codeTooManyTopics            wire.Code = 2021
	codeInvalidReplicationFactor wire.Code = 2018
	codePartitionsLimitReached   wire.Code = 2022
	codePartitionResizeDisabled  wire.Code = 2023
	codeCannotAppendMessage      wire.Code = 4010
	codeCannotReadMessage        wire.Code = 4011
	codeNonZeroOffset            wire.Code = 4031
	codeNonZeroTimestamp         wire.Code = 4032
	codeCannotWriteToFile        wire.Code = 10006
)
