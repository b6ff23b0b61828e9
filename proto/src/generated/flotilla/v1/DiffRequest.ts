// Original file: proto/fleet.proto


export interface DiffRequest {
}

export interface DiffRequest__Output {
}
