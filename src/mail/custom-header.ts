import { parseAddressList } from '../domain/mailbox.ts';
import { addressWords } from './address.ts';
import { withDecodedName } from './decode-words.ts';
import { unstructuredWords } from './encoded-word.ts';
import { tokenWords, writeField } from './field.ts';
import { type HeaderField, headerKind } from './headers.ts';

/** Writes a field that `checkHeader` has let pass, by its kind. Throws a RangeError on one it would not have. */
export function writeCustomHeader([name, value]: HeaderField): string {
  switch (headerKind(name)) {
    case 'addresses': {
      const parsed = parseAddressList(value);
      if (!parsed.ok) throw new RangeError(`header field ${name} is not an address list`);
      return writeField(name, addressWords(parsed.value.map(withDecodedName)));
    }
    case 'tokens':
      return writeField(name, tokenWords(value));
    case 'unstructured':
      return writeField(name, unstructuredWords(value.trim(), name));
  }
}
