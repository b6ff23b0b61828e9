// Original file: proto/fleet.proto


export interface SourceDigest {
  'pin'?: (string);
  'digest'?: (string);
}

export interface SourceDigest__Output {
  'pin': (string);
  'digest': (string);
}
