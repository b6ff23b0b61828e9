// Original file: proto/fleet.proto


export interface ReferencedObjectWithdrawal {
  'kind'?: (string);
  'name'?: (string);
}

export interface ReferencedObjectWithdrawal__Output {
  'kind': (string);
  'name': (string);
}
