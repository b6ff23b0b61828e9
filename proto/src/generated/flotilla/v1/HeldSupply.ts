// Original file: proto/fleet.proto


export interface HeldSupply {
  'kind'?: (string);
  'name'?: (string);
  'digest'?: (string);
}

export interface HeldSupply__Output {
  'kind': (string);
  'name': (string);
  'digest': (string);
}
