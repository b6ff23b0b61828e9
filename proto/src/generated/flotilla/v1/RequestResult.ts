// Original file: proto/fleet.proto


export interface RequestResult {
  'token'?: (string);
  'result'?: (string);
  'objects'?: (number);
  'revision'?: (number);
  'code'?: (string);
  'message'?: (string);
}

export interface RequestResult__Output {
  'token': (string);
  'result': (string);
  'objects': (number);
  'revision': (number);
  'code': (string);
  'message': (string);
}
