// Original file: proto/fleet.proto


export interface RequestCancellation {
  'id'?: (string);
}

export interface RequestCancellation__Output {
  'id': (string);
}
