// Original file: proto/fleet.proto


export interface ResourceState {
  'apiVersion'?: (string);
  'kind'?: (string);
  'namespace'?: (string);
  'name'?: (string);
  'message'?: (string);
  'missing'?: (boolean);
  'state'?: (string);
}

export interface ResourceState__Output {
  'apiVersion': (string);
  'kind': (string);
  'namespace': (string);
  'name': (string);
  'message': (string);
  'missing': (boolean);
  'state': (string);
}
