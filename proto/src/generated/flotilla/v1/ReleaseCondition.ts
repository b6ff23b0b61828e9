// Original file: proto/fleet.proto


export interface ReleaseCondition {
  'type'?: (string);
  'status'?: (string);
  'reason'?: (string);
  'message'?: (string);
}

export interface ReleaseCondition__Output {
  'type': (string);
  'status': (string);
  'reason': (string);
  'message': (string);
}
