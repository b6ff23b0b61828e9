// Original file: proto/fleet.proto


export interface LogRequest {
  'pod'?: (string);
  'container'?: (string);
  'tailLines'?: (number);
  'sinceSeconds'?: (number);
  'previous'?: (boolean);
  'tests'?: (boolean);
}

export interface LogRequest__Output {
  'pod': (string);
  'container': (string);
  'tailLines': (number);
  'sinceSeconds': (number);
  'previous': (boolean);
  'tests': (boolean);
}
