// Original file: proto/fleet.proto


export interface ObservedDeployment {
  'name'?: (string);
  'uid'?: (string);
  'deploymentId'?: (string);
  'paused'?: (boolean);
  'withdrawing'?: (boolean);
  'requestToken'?: (string);
  'verificationAt'?: (string);
}

export interface ObservedDeployment__Output {
  'name': (string);
  'uid': (string);
  'deploymentId': (string);
  'paused': (boolean);
  'withdrawing': (boolean);
  'requestToken': (string);
  'verificationAt': (string);
}
