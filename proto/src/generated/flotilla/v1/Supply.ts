// Original file: proto/fleet.proto


export interface Supply {
  'kind'?: (string);
  'name'?: (string);
  'digest'?: (string);
  'content'?: (Buffer | Uint8Array | string);
}

export interface Supply__Output {
  'kind': (string);
  'name': (string);
  'digest': (string);
  'content': (Buffer);
}
