// Original file: proto/fleet.proto


export interface Authorities {
  'pem'?: (string);
}

export interface Authorities__Output {
  'pem': (string);
}
