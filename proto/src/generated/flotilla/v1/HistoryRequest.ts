// Original file: proto/fleet.proto


export interface HistoryRequest {
}

export interface HistoryRequest__Output {
}
