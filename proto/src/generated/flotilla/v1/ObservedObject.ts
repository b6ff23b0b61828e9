// Original file: proto/fleet.proto


export interface ObservedObject {
  'kind'?: (string);
  'name'?: (string);
  'digest'?: (string);
}

export interface ObservedObject__Output {
  'kind': (string);
  'name': (string);
  'digest': (string);
}
