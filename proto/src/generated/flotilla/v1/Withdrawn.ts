// Original file: proto/fleet.proto


export interface Withdrawn {
  'name'?: (string);
  'uid'?: (string);
}

export interface Withdrawn__Output {
  'name': (string);
  'uid': (string);
}
