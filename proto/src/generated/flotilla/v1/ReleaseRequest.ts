// Original file: proto/fleet.proto


export interface ReleaseRequest {
  'token'?: (string);
  'force'?: (boolean);
  'reset'?: (boolean);
  'correctDrift'?: (boolean);
}

export interface ReleaseRequest__Output {
  'token': (string);
  'force': (boolean);
  'reset': (boolean);
  'correctDrift': (boolean);
}
