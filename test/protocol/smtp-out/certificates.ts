/** Certificates of a smarthost at 127.0.0.1, by what they prove. */
import { type Certificate, createAuthority, createCertificate } from '../../peers/certificate.ts';

export const authority = createAuthority();
/** Proves the address, where the authority is trusted. */
export const good = createCertificate({ hosts: ['127.0.0.1'], issuer: authority });
/** Prove nothing, by what is wrong with them. */
export const bad: Readonly<Record<string, Certificate>> = {
  'self-signed': createCertificate({ hosts: ['127.0.0.1'] }),
  expired: createCertificate({ hosts: ['127.0.0.1'], issuer: authority, expired: true }),
  'for another name': createCertificate({ hosts: ['other.example'], issuer: authority }),
};
