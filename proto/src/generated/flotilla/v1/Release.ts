// Original file: proto/fleet.proto


export interface Release {
  'namespace'?: (string);
  'name'?: (string);
  'revision'?: (number);
  'chartVersion'?: (string);
  'appVersion'?: (string);
}

export interface Release__Output {
  'namespace': (string);
  'name': (string);
  'revision': (number);
  'chartVersion': (string);
  'appVersion': (string);
}
