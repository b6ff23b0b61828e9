// Original file: proto/fleet.proto


export interface Holding {
  'name'?: (string);
  'uid'?: (string);
  'deploymentId'?: (string);
  'paused'?: (boolean);
  'withdrawing'?: (boolean);
}

export interface Holding__Output {
  'name': (string);
  'uid': (string);
  'deploymentId': (string);
  'paused': (boolean);
  'withdrawing': (boolean);
}
