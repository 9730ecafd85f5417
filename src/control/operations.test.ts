import { expect, test } from 'vitest';
import { callByName } from '../operations/call.ts';
import type { Operations } from '../operations/table.ts';

test('the faults of a request are told a line each, beginning with the field', async () => {
  // Sound because nothing is called: the request is refused before.
  const operations = {} as Operations;
  const request = { name: 'example.com', algorithm: 'rsa', selector: 'a b', more: 1 };
  await expect(callByName(operations, 'addDomain', request)).rejects.toMatchObject({
    code: 'invalid',
    message:
      'selector: Must be one label of a domain name: 1 to 63 of a-z 0-9 -.\nmore: There is no field "more".',
  });
});
