// Original file: proto/fleet.proto


export interface PlanVerification {
  'diff'?: (string);
  'key'?: (Buffer | Uint8Array | string);
  'at'?: (string);
}

export interface PlanVerification__Output {
  'diff': (string);
  'key': (Buffer);
  'at': (string);
}
