// Original file: proto/fleet.proto


export interface EventsRequest {
}

export interface EventsRequest__Output {
}
