// Original file: proto/fleet.proto


export interface Received {
  'name'?: (string);
  'uid'?: (string);
  'deploymentId'?: (string);
}

export interface Received__Output {
  'name': (string);
  'uid': (string);
  'deploymentId': (string);
}
