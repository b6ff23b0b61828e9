// Original file: proto/fleet.proto


export interface ValuesRequest {
  'target'?: (string);
  'targetPaths'?: (string)[];
}

export interface ValuesRequest__Output {
  'target': (string);
  'targetPaths': (string)[];
}
