// Original file: proto/fleet.proto


export interface ReleaseRequest {
  'token'?: (string);
  'force'?: (boolean);
  'reset'?: (boolean);
}

export interface ReleaseRequest__Output {
  'token': (string);
  'force': (boolean);
  'reset': (boolean);
}
