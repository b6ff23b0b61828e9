// Original file: proto/fleet.proto


export interface Deployment {
  'name'?: (string);
  'uid'?: (string);
  'deploymentId'?: (string);
  'content'?: (Buffer | Uint8Array | string);
  'paused'?: (boolean);
}

export interface Deployment__Output {
  'name': (string);
  'uid': (string);
  'deploymentId': (string);
  'content': (Buffer);
  'paused': (boolean);
}
