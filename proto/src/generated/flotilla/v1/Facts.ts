// Original file: proto/fleet.proto


export interface Facts {
  'digest'?: (string);
  'content'?: (Buffer | Uint8Array | string);
}

export interface Facts__Output {
  'digest': (string);
  'content': (Buffer);
}
