import { expect, test } from 'vitest';
import { tlsDemandOf } from './message-rules.ts';

const header = (...values: string[]) => values.map((value) => ({ lowerName: 'tls-required', value }));
const SUBJECT = { lowerName: 'subject', value: 'No' };

test.each([
  ['nothing', [SUBJECT], {}],
  ['No', [SUBJECT, ...header(' No ')], { tls: 'optional' }],
  ['no, in another case', header('nO'), { tls: 'optional' }],
  ['Yes, which is no value of it', header('Yes'), {}],
  ['more than No', header('No thanks'), {}],
  ['No twice, which is not allowed', [...header('No'), SUBJECT, ...header('No')], {}],
])('a header that says %s demands that', (_what, fields, demand) => {
  expect(tlsDemandOf(false, fields)).toEqual(demand);
});

test('REQUIRETLS outranks the header', () => {
  expect(tlsDemandOf(true, header('No'))).toEqual({ tls: 'required' });
});
