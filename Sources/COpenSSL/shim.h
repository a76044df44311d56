#pragma once
#include <openssl/core_names.h>
#include <openssl/ct.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/ocsp.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

// Stacks, and functions that are macros, which Swift does not see.

static inline STACK_OF(X509) *copenssl_certificates_new(void) { return sk_X509_new_null(); }
static inline int copenssl_certificates_push(STACK_OF(X509) *list, X509 *certificate) { return sk_X509_push(list, certificate); }
static inline int copenssl_certificates_count(const STACK_OF(X509) *list) { return sk_X509_num(list); }
static inline X509 *copenssl_certificates_at(const STACK_OF(X509) *list, int index) { return sk_X509_value(list, index); }
/// The list alone: its certificates belong to others.
static inline void copenssl_certificates_free(STACK_OF(X509) *list) { sk_X509_free(list); }

static inline STACK_OF(X509_CRL) *copenssl_crls_new(void) { return sk_X509_CRL_new_null(); }
static inline int copenssl_crls_push(STACK_OF(X509_CRL) *list, X509_CRL *crl) { return sk_X509_CRL_push(list, crl); }
/// With what stands in it.
static inline void copenssl_crls_free(STACK_OF(X509_CRL) *list) { sk_X509_CRL_pop_free(list, X509_CRL_free); }

static inline int copenssl_names_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }
static inline GENERAL_NAME *copenssl_names_at(const GENERAL_NAMES *names, int index) { return sk_GENERAL_NAME_value(names, index); }

static inline int copenssl_scts_count(const STACK_OF(SCT) *list) { return sk_SCT_num(list); }

static inline unsigned long copenssl_rfc2253_flags(void) { return XN_FLAG_RFC2253; }
static inline long copenssl_memory_of(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }
static inline void copenssl_free(void *bytes) { OPENSSL_free(bytes); }
static inline int copenssl_is_named(const GENERAL_NAME *name, int type) { return name->type == type; }
static inline const ASN1_STRING *copenssl_name_string(const GENERAL_NAME *name) {
    return (const ASN1_STRING *)GENERAL_NAME_get0_value(name, (int *)0);
}
