// Original file: proto/fleet.proto


export interface Withdrawal {
  'name'?: (string);
  'uid'?: (string);
  'deploymentId'?: (string);
  'content'?: (Buffer | Uint8Array | string);
  'keepRelease'?: (boolean);
}

export interface Withdrawal__Output {
  'name': (string);
  'uid': (string);
  'deploymentId': (string);
  'content': (Buffer);
  'keepRelease': (boolean);
}
