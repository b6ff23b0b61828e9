// Original file: proto/fleet.proto


export interface ClusterInfo {
  'digest'?: (string);
  'content'?: (Buffer | Uint8Array | string);
}

export interface ClusterInfo__Output {
  'digest': (string);
  'content': (Buffer);
}
