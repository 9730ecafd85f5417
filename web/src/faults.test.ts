import { expect, test } from 'vitest';
import { ApiError } from './api.ts';
import { faultsOf, readLines } from './faults.ts';

const refused = (detail: string) => new ApiError(400, { code: 'invalid', detail });

test.each([
  ['cidrs.0: is no range', ['cidrs', '0'], 'is no range'],
  ['to/1: is no mailbox.', ['to', '1'], 'is no mailbox.'],
  ['relay.port = 99999: must be a port (command line)', ['relay', 'port'], 'must be a port'],
  ['relay.host: must be given (command line)', ['relay', 'host'], 'must be given'],
  [
    'routes[2].match.sender[0] = "x: y": must be an address (rules)',
    ['routes', '2', 'match', 'sender', '0'],
    'must be an address',
  ],
  ['api.bind = ["a: b","c…: must be a list (stored)', ['api', 'bind'], 'must be a list'],
])('reads %s', (line, path, text) => {
  expect(readLines(line)).toEqual([{ path, key: line.split(/ = |: /)[0], text }]);
});

test('a sentence is about no field', () => {
  expect(readLines('There is a key named shop already. Choose another.')).toEqual([
    'There is a key named shop already. Choose another.',
  ]);
});

test('faults come beside their fields, and the rest above the buttons', () => {
  const error = refused(
    'name: must be printable\ncidrs.1: is no range\ncidrs.2: neither\nscopes: too few\nmetadata/x: too long.\nNothing was changed.',
  );
  expect(faultsOf(error, ['name', 'cidrs'])).toEqual({
    fields: { name: 'Must be printable.', cidrs: 'Is no range. Neither.' },
    rest: 'scopes: too few\nmetadata/x: too long.\nNothing was changed.',
  });
});

test('pointers are believed before lines', () => {
  const error = new ApiError(400, {
    detail: 'The request is wrong.',
    errors: [{ pointer: '/values/api.port', detail: 'must be a port' }],
  });
  expect(faultsOf(error, ['api.port'], ([, key]) => key ?? null)).toEqual({
    fields: { 'api.port': 'Must be a port.' },
    rest: null,
  });
});

test('no error has no faults', () => {
  expect(faultsOf(null, ['name'])).toEqual({ fields: {}, rest: null });
});
