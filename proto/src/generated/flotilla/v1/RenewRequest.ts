// Original file: proto/fleet.proto


export interface RenewRequest {
  'certificateRequest'?: (Buffer | Uint8Array | string);
}

export interface RenewRequest__Output {
  'certificateRequest': (Buffer);
}
