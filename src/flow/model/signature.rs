//! Signatures of atoms: Ed25519 over the 32 bytes of the id. (flow.md, section 1.2.)

use std::fmt;

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::flow::model::ids::AtomId;

/// Two signatures of an atom, by whom it is for and by the persona that made it.
///
/// That it decodes does not say that it holds: [`AtomSignature::verify`] does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtomSignature {
    /// The public key of the principal.
    #[serde(with = "standard_base64")]
    pub principal_key: [u8; 32],
    /// The signature of the principal.
    #[serde(with = "standard_base64")]
    pub principal_sig: [u8; 64],
    /// The public key of the persona.
    #[serde(with = "standard_base64")]
    pub persona_key: [u8; 32],
    /// The signature of the persona.
    #[serde(with = "standard_base64")]
    pub persona_sig: [u8; 64],
}

/// One of the two who sign an atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignedBy {
    /// Whom the atom is for.
    Principal,
    /// The persona that made it.
    Persona,
}

impl fmt::Display for SignedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Principal => "principal",
            Self::Persona => "persona",
        })
    }
}

/// A signature that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The public key is no point of the curve.
    #[error("atom {atom}: the key of the {by} is no Ed25519 key")]
    Key {
        /// The atom.
        atom: AtomId,
        /// Whose key.
        by: SignedBy,
    },
    /// The signature is not one of this key over this atom.
    #[error("atom {atom}: the signature of the {by} does not hold for its key and this atom")]
    Mismatch {
        /// The atom.
        atom: AtomId,
        /// Whose signature.
        by: SignedBy,
    },
    /// A signer could not sign.
    #[error("atom {atom}: cannot be signed: {reason}")]
    Unsigned {
        /// The atom.
        atom: AtomId,
        /// Why, in the words of the signer.
        reason: String,
    },
}

impl AtomSignature {
    /// Checks both signatures strictly: weak keys and signatures of which there could be
    /// several for one message are refused.
    ///
    /// # Errors
    /// [`SignatureError`] with the first that does not hold.
    pub fn verify(&self, atom: &AtomId) -> Result<(), SignatureError> {
        let both = [
            (
                SignedBy::Principal,
                &self.principal_key,
                &self.principal_sig,
            ),
            (SignedBy::Persona, &self.persona_key, &self.persona_sig),
        ];
        for (by, key, signature) in both {
            let atom = *atom;
            let key =
                VerifyingKey::from_bytes(key).map_err(|_| SignatureError::Key { atom, by })?;
            key.verify_strict(atom.as_bytes(), &Signature::from_bytes(signature))
                .map_err(|_| SignatureError::Mismatch { atom, by })?;
        }
        Ok(())
    }
}

/// Signs atoms. Hosts whose keys are elsewhere implement it.
pub trait AtomSigner {
    /// Both signatures over the id of an atom.
    ///
    /// # Errors
    /// Why nothing can be signed, in words.
    fn sign(&self, atom: &AtomId) -> Result<AtomSignature, String>;
}

/// The two keys that sign, in memory. They are wiped when dropped.
pub struct SigningKeys {
    principal: SigningKey,
    persona: SigningKey,
}

impl SigningKeys {
    /// The keys of two seeds, which are the secret keys of RFC 8032.
    #[must_use]
    pub fn from_seeds(principal: &[u8; 32], persona: &[u8; 32]) -> Self {
        Self {
            principal: SigningKey::from_bytes(principal),
            persona: SigningKey::from_bytes(persona),
        }
    }
}

impl fmt::Debug for SigningKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKeys(secret)")
    }
}

impl AtomSigner for SigningKeys {
    fn sign(&self, atom: &AtomId) -> Result<AtomSignature, String> {
        Ok(AtomSignature {
            principal_key: self.principal.verifying_key().to_bytes(),
            principal_sig: self.principal.sign(atom.as_bytes()).to_bytes(),
            persona_key: self.persona.verifying_key().to_bytes(),
            persona_sig: self.persona.sign(atom.as_bytes()).to_bytes(),
        })
    }
}

/// Bytes of a fixed number as base64 with padding.
mod standard_base64 {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::{Deserializer, Serializer, de, fmt};

    pub(super) fn serialize<S: Serializer, const N: usize>(
        bytes: &[u8; N],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>, const N: usize>(
        deserializer: D,
    ) -> Result<[u8; N], D::Error> {
        deserializer.deserialize_str(Bytes::<N>)
    }

    struct Bytes<const N: usize>;

    impl<const N: usize> de::Visitor<'_> for Bytes<N> {
        type Value = [u8; N];

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{N} bytes in standard base64")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<[u8; N], E> {
            let wrong = || E::invalid_value(de::Unexpected::Other("another text"), &self);
            // Longer texts are not decoded at all.
            if text.len() != N.div_ceil(3) * 4 {
                return Err(wrong());
            }
            let bytes = STANDARD.decode(text).map_err(|_| wrong())?;
            bytes.try_into().map_err(|_| wrong())
        }
    }
}
