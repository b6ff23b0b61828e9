// Original file: proto/fleet.proto


export interface DeploymentAck {
  'name'?: (string);
  'uid'?: (string);
  'deploymentId'?: (string);
}

export interface DeploymentAck__Output {
  'name': (string);
  'uid': (string);
  'deploymentId': (string);
}
