// Original file: proto/fleet.proto


export interface DriftEvent {
  'time'?: (string);
  'apiVersion'?: (string);
  'kind'?: (string);
  'namespace'?: (string);
  'name'?: (string);
  'fields'?: (string)[];
  'manager'?: (string);
  'result'?: (string);
}

export interface DriftEvent__Output {
  'time': (string);
  'apiVersion': (string);
  'kind': (string);
  'namespace': (string);
  'name': (string);
  'fields': (string)[];
  'manager': (string);
  'result': (string);
}
