// Original file: proto/fleet.proto


export interface EnrollRequest {
  'token'?: (string);
  'certificateRequest'?: (Buffer | Uint8Array | string);
  'clientId'?: (string);
  'labels'?: ({[key: string]: string});
  'clusterName'?: (string);
}

export interface EnrollRequest__Output {
  'token': (string);
  'certificateRequest': (Buffer);
  'clientId': (string);
  'labels': ({[key: string]: string});
  'clusterName': (string);
}
