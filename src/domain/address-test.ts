import { addressKey } from './mailbox.ts';

/** A test for addresses that are a whole one, or (`@example.net`) of a whole domain, in any letter case. */
export function addressTest(wanted: string): (address: string) => boolean {
  const text = addressKey(wanted.toLowerCase());
  if (!text.startsWith('@')) return (address) => addressKey(address.toLowerCase()) === text;
  return (address) => address.slice(address.lastIndexOf('@')).toLowerCase() === text;
}
