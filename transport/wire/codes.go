package wire

import "fmt"

// Code says why a request was refused. The same numbers are in the status of a reply, in its result section, in the
// sections of a fetch and in error bodies of HTTP; 0 is none. (Iggy binary protocol, errors.)
type Code uint32 //nolint:errname // it is a number first: errors are asked for it

// Codes that a client or a server acts on. From 14000 on they are made by clients and do not travel.
const (
	CodeError                            Code = 1
	CodeInvalidConfiguration             Code = 2
	CodeInvalidCommand                   Code = 3
	CodeInvalidFormat                    Code = 4
	CodeFeatureUnavailable               Code = 5
	CodeDisconnected                     Code = 8
	CodeCannotEstablishConnection        Code = 9
	CodeResourceNotFound                 Code = 20
	CodeStaleClient                      Code = 30
	CodeUnauthenticated                  Code = 40
	CodeUnauthorized                     Code = 41
	CodeInvalidCredentials               Code = 42
	CodeInvalidUsername                  Code = 43
	CodeInvalidPassword                  Code = 44
	CodeInvalidUserStatus                Code = 45
	CodeUserAlreadyExists                Code = 46
	CodeUserInactive                     Code = 47
	CodeCannotDeleteUser                 Code = 48
	CodeInvalidPersonalAccessTokenName   Code = 50
	CodePersonalAccessTokenAlreadyExists Code = 51
	CodePersonalAccessTokensLimitReached Code = 52
	CodeInvalidPersonalAccessToken       Code = 53
	CodePersonalAccessTokenExpired       Code = 54
	CodeUsersLimitReached                Code = 55
	CodeInvalidPersonalAccessTokenExpiry Code = 56
	CodeTransientNotCommitted            Code = 57
	CodeTransientNotAccepted             Code = 58
	CodeRequestAlreadyApplied            Code = 59
	CodeNotConnected                     Code = 61
	CodeClientShutdown                   Code = 63
	CodeInvalidEncryptionKey             Code = 70
	CodeCannotEncryptData                Code = 71
	CodeCannotDecryptData                Code = 72
	CodeRequestTooOld                    Code = 85
	CodeHistoryUnavailable               Code = 87
	CodeLifecycleBusy                    Code = 88
	CodeNotPrimary                       Code = 89
	CodeDeferredPollCapacityExceeded     Code = 90
	CodeProducerIDsExhausted             Code = 91
	CodeProducerSequenceOutOfOrder       Code = 92
	CodeProducerEpochFenced              Code = 93
	CodeProducerUnknown                  Code = 94
	CodeProducerPartitionRequired        Code = 95
	CodeClientNotFound                   Code = 100
	CodeHTTPResponseError                Code = 300
	CodeStreamIDNotFound                 Code = 1009
	CodeStreamNameNotFound               Code = 1010
	CodeStreamNameAlreadyExists          Code = 1012
	CodeInvalidStreamName                Code = 1013
	CodeTopicIDNotFound                  Code = 2010
	CodeTopicNameNotFound                Code = 2011
	CodeTopicNameAlreadyExists           Code = 2013
	CodeInvalidTopicName                 Code = 2014
	CodeTooManyPartitions                Code = 2015
	CodeInvalidPartitionsCount           Code = 2019
	CodePartitionNotFound                Code = 3007
	CodeTopicFull                        Code = 3009
	CodeConsumerOffsetNotFound           Code = 3021
	CodeTooManyConsumerOffsets           Code = 3024
	CodeInvalidMessagesCount             Code = 4009
	CodeTooBigUserHeaders                Code = 4017
	CodeTooBigMessagePayload             Code = 4022
	CodeInvalidMessagePayloadLength      Code = 4025
	CodeInvalidMessageChecksum           Code = 4027
	CodeCommandLengthError               Code = 4029
	CodeTooSmallMessage                  Code = 4037
	CodeInvalidMessageTimestampDelta     Code = 4038
	CodeInvalidBatchChecksum             Code = 4039
	CodeUnsupportedOptionKey             Code = 4041
	CodeInvalidOptionValue               Code = 4042
	CodeOptionsBlockTooLarge             Code = 4043
	CodeBackgroundSendError              Code = 4051
	CodeBackgroundSendTimeout            Code = 4052
	CodeBackgroundSendBufferFull         Code = 4053
	CodeBackgroundWorkerDisconnected     Code = 4054
	CodeBackgroundSendBufferOverflow     Code = 4055
	CodeProducerSendFailed               Code = 4056
	CodeProducerClosed                   Code = 4057
	CodeInvalidOffset                    Code = 4100
	CodeInvalidReservedField             Code = 4101
	CodeSegmentSizeMismatchAtOpen        Code = 4102
	CodeOptionNotUpdatable               Code = 4103
	CodeOptionNotResettable              Code = 4104
	CodeReadOnlyOption                   Code = 4105
	CodeStreamEncryptionUnavailable      Code = 4106
	CodeUnsupportedCriticalOption        Code = 4107
	CodeCannotModifyRootUser             Code = 4108
	CodeConsumerGroupIDNotFound          Code = 5000
	CodeConsumerGroupNameNotFound        Code = 5003
	CodeConsumerGroupNameAlreadyExists   Code = 5004
	CodeInvalidConsumerGroupName         Code = 5005
	CodeConsumerGroupMemberNotFound      Code = 5006
	CodeConsumerGroupPartitionNotOwned   Code = 5009
	CodeTooManyConsumerGroups            Code = 5010
	CodeInvalidConnectionString          Code = 8000
	CodeAlreadyAuthenticated             Code = 14000
	CodeInvalidSession                   Code = 14001
	CodeIncompatibleProtocolVersion      Code = 14003
	CodeSessionMismatch                  Code = 14004
	CodeRequestIDExhausted               Code = 14005
	CodeOperationUncertain               Code = 14006
	CodeLaneBlocked                      Code = 14007
	CodeOperationNotRetained             Code = 14008
	CodePartitionLaneBlocked             Code = 14009
	CodeFetchProgressUncertain           Code = 14010
)

// Error is String: a code is what errors.Is asks an error of a client for.
func (c Code) Error() string { return c.String() }

// String returns the name that the protocol gives the code, or its number if it has none.
func (c Code) String() string {
	if name, ok := codeNames[c]; ok {
		return name
	}
	return fmt.Sprintf("code %d", uint32(c))
}

// Known says whether the protocol has a name for the code.
func (c Code) Known() bool {
	_, ok := codeNames[c]
	return ok
}
