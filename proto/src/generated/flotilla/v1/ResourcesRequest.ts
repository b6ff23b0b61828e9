// Original file: proto/fleet.proto


export interface ResourcesRequest {
}

export interface ResourcesRequest__Output {
}
