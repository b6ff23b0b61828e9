// Original file: proto/fleet.proto


export interface ReferencedObject {
  'kind'?: (string);
  'name'?: (string);
  'digest'?: (string);
  'content'?: (Buffer | Uint8Array | string);
}

export interface ReferencedObject__Output {
  'kind': (string);
  'name': (string);
  'digest': (string);
  'content': (Buffer);
}
