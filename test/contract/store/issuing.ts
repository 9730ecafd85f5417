import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FRESH_STATE } from '../../../src/domain/certificate.ts';
import { challengeAnswer, issuedCertificate } from '../../support/issuing.ts';
import type { OpenSubject, Subject } from './fixtures.ts';

/** What every store promises of the certificate that is ordered. */
export function issuingContract(open: OpenSubject): void {
  describe('the certificate by ACME', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    it('is none at first', async () => {
      const { issuing } = subject;
      expect(await issuing.issuing()).toEqual({ issued: null, renewal: FRESH_STATE, challenges: [] });
      expect(await issuing.acmeAccount('https://a.example')).toBe(null);
    });

    it('is ordered by one node at a time, until its lease ends or is given back', async () => {
      const { issuing } = subject;
      expect(await issuing.leaseIssuing('n1', 100, 200)).toBe(true);
      expect(await issuing.leaseIssuing('n2', 199, 300)).toBe(false);
      expect(await issuing.leaseIssuing('n1', 150, 250)).toBe(true);
      expect(await issuing.leaseIssuing('n2', 250, 300)).toBe(true);
      await issuing.endIssuing('n1');
      expect(await issuing.leaseIssuing('n1', 260, 400)).toBe(false);
      await issuing.endIssuing('n2');
      expect(await issuing.leaseIssuing('n1', 260, 400)).toBe(true);
    });

    it('is what the holder of the lease writes; the writes of others are refused', async () => {
      const { issuing } = subject;
      const renewal = { ...FRESH_STATE, failures: 3, notBefore: 17 };
      const writes = async (holder: string) => [
        await issuing.putAcmeAccount(holder, 'https://a.example', 'sealed'),
        await issuing.putChallenges(holder, [challengeAnswer(), challengeAnswer({ token: 'b' })]),
        await issuing.putIssued(holder, issuedCertificate(), FRESH_STATE),
        await issuing.putRenewal(holder, renewal),
      ];
      expect(await writes('n1')).toEqual([false, false, false, false]);
      await issuing.leaseIssuing('n1', 0, 100);
      expect(await writes('n2')).toEqual([false, false, false, false]);
      expect(await writes('n1')).toEqual([true, true, true, true]);
      expect(await writes('n1')).toEqual([true, true, true, true]);
      const challenges = [challengeAnswer(), challengeAnswer({ token: 'b' })];
      expect(await issuing.issuing()).toEqual({ issued: issuedCertificate(), renewal, challenges });
      expect(await issuing.acmeAccount('https://a.example')).toBe('sealed');
      expect(await issuing.acmeAccount('https://b.example')).toBe(null);
      await issuing.endIssuing('n1');
      expect(await issuing.issuing()).toEqual({ issued: issuedCertificate(), renewal, challenges: [] });
    });
  });
}
