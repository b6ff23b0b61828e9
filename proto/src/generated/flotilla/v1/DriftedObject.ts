// Original file: proto/fleet.proto


export interface DriftedObject {
  'apiVersion'?: (string);
  'kind'?: (string);
  'namespace'?: (string);
  'name'?: (string);
  'missing'?: (boolean);
  'fields'?: (string)[];
  'patch'?: (string);
  'manager'?: (string);
  'time'?: (string);
}

export interface DriftedObject__Output {
  'apiVersion': (string);
  'kind': (string);
  'namespace': (string);
  'name': (string);
  'missing': (boolean);
  'fields': (string)[];
  'patch': (string);
  'manager': (string);
  'time': (string);
}
