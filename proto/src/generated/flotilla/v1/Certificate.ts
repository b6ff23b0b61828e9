// Original file: proto/fleet.proto


export interface Certificate {
  'chainPem'?: (string);
  'authoritiesPem'?: (string);
}

export interface Certificate__Output {
  'chainPem': (string);
  'authoritiesPem': (string);
}
