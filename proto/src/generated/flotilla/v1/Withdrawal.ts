// Original file: proto/fleet.proto


export interface Withdrawal {
  'name'?: (string);
  'uid'?: (string);
}

export interface Withdrawal__Output {
  'name': (string);
  'uid': (string);
}
