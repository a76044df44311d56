#pragma once
#include <openssl/core_names.h>
#include <openssl/ct.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/obj_mac.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

// Swift does not import OpenSSL's stacks, and the functions that are macros.

static inline STACK_OF(X509) *copenssl_certificates_new(void) { return sk_X509_new_null(); }
static inline int copenssl_certificates_push(STACK_OF(X509) *list, X509 *certificate) { return sk_X509_push(list, certificate); }
static inline int copenssl_certificates_count(const STACK_OF(X509) *list) { return sk_X509_num(list); }
static inline X509 *copenssl_certificates_at(const STACK_OF(X509) *list, int index) { return sk_X509_value(list, index); }
/// Frees only the list: it does not own its certificates.
static inline void copenssl_certificates_free(STACK_OF(X509) *list) { sk_X509_free(list); }
/// Frees the list and its certificates.
static inline void copenssl_certificates_free_all(STACK_OF(X509) *list) { sk_X509_pop_free(list, X509_free); }
static inline long copenssl_session_add_certificate(SSL *session, X509 *certificate) { return SSL_add1_chain_cert(session, certificate); }

static inline STACK_OF(X509_CRL) *copenssl_crls_new(void) { return sk_X509_CRL_new_null(); }
static inline int copenssl_crls_push(STACK_OF(X509_CRL) *list, X509_CRL *crl) { return sk_X509_CRL_push(list, crl); }
/// Frees the list and its elements.
static inline void copenssl_crls_free(STACK_OF(X509_CRL) *list) { sk_X509_CRL_pop_free(list, X509_CRL_free); }

static inline int copenssl_names_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }
static inline GENERAL_NAME *copenssl_names_at(const GENERAL_NAMES *names, int index) { return sk_GENERAL_NAME_value(names, index); }

static inline int copenssl_subtrees_count(const STACK_OF(GENERAL_SUBTREE) *list) { return sk_GENERAL_SUBTREE_num(list); }
/// The name of one subtree. Its minimum and maximum distances are omitted: RFC 5280 does not use them.
static inline const GENERAL_NAME *copenssl_subtrees_at(const STACK_OF(GENERAL_SUBTREE) *list, int index) {
    return sk_GENERAL_SUBTREE_value(list, index)->base;
}

/// Frees the list and its elements.
static inline void copenssl_bags_free(STACK_OF(PKCS12_SAFEBAG) *list) { sk_PKCS12_SAFEBAG_pop_free(list, PKCS12_SAFEBAG_free); }
/// Frees the list and its elements.
static inline void copenssl_safes_free(STACK_OF(PKCS7) *list) { sk_PKCS7_pop_free(list, PKCS7_free); }
static inline int copenssl_bag_add_object_attribute(PKCS12_SAFEBAG *bag, const char *name, const ASN1_OBJECT *value) {
    return PKCS12_add1_attr_by_txt(bag, name, V_ASN1_OBJECT, (const unsigned char *)value, -1);
}

static inline int copenssl_scts_count(const STACK_OF(SCT) *list) { return sk_SCT_num(list); }

static inline int copenssl_utf8_form(void) { return MBSTRING_UTF8; }
static inline unsigned long copenssl_rfc2253_flags(void) { return XN_FLAG_RFC2253; }
static inline long copenssl_memory_of(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }
static inline void copenssl_free(void *bytes) { OPENSSL_free(bytes); }
static inline int copenssl_is_named(const GENERAL_NAME *name, int type) { return name->type == type; }
static inline const ASN1_STRING *copenssl_name_string(const GENERAL_NAME *name) {
    return (const ASN1_STRING *)GENERAL_NAME_get0_value(name, (int *)0);
}

static inline int copenssl_session_new_index(void) { return SSL_get_ex_new_index(0, 0, 0, 0, 0); }
static inline uint64_t copenssl_option_no_renegotiation(void) { return SSL_OP_NO_RENEGOTIATION; }
static inline void copenssl_context_set_message_callback(
    SSL_CTX *context, void (*callback)(int, int, int, const void *, size_t, SSL *, void *)
) {
    SSL_CTX_set_msg_callback(context, callback);
}
static inline void copenssl_context_set_staple_callback(SSL_CTX *context, int (*callback)(SSL *, void *)) {
    SSL_CTX_set_tlsext_status_cb(context, callback);
}
static inline long copenssl_session_ask_for_staple(SSL *session) {
    return SSL_set_tlsext_status_type(session, TLSEXT_STATUSTYPE_ocsp);
}
/// OpenSSL passes each new session to the callback, and keeps none itself.
static inline void copenssl_context_offer_sessions(SSL_CTX *context, int (*callback)(SSL *, SSL_SESSION *)) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, callback);
}
static inline long copenssl_session_name_server(SSL *session, const char *name) { return SSL_set_tlsext_host_name(session, name); }
static inline long copenssl_staple_of(SSL *session, const unsigned char **octets) {
    return SSL_get_tlsext_status_ocsp_resp(session, octets);
}

// Settings of a context, for clients and servers.

/// Pads a ClientHello whose length would make some servers hang (RFC 7685).
static inline uint64_t copenssl_option_padding(void) { return SSL_OP_TLSEXT_PADDING; }
static inline void copenssl_context_set_mode(SSL_CTX *context, long mode) { SSL_CTX_set_mode(context, mode); }

static inline uint64_t copenssl_serving_options(void) {
    return SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA;
}
static inline int copenssl_context_set_versions(SSL_CTX *context, int least, int greatest) {
    return SSL_CTX_set_min_proto_version(context, least) && SSL_CTX_set_max_proto_version(context, greatest);
}
static inline int copenssl_context_set_groups(SSL_CTX *context, const char *list) { return SSL_CTX_set1_groups_list(context, list); }
static inline long copenssl_context_cache_no_sessions(SSL_CTX *context) {
    return SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}
static inline long copenssl_record_mode(void) { return SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE; }
static inline void copenssl_bio_wants_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline void copenssl_bio_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }
static inline int copenssl_is_flush(int command) { return command == BIO_CTRL_FLUSH; }
static inline int copenssl_reason(unsigned long code) { return ERR_GET_REASON(code); }
/// The alert that the peer sent, if this error code from the queue reports one; otherwise -1.
static inline int copenssl_alert_of(unsigned long code) {
    int reason = ERR_GET_REASON(code);
    return ERR_GET_LIB(code) == ERR_LIB_SSL && reason >= SSL_AD_REASON_OFFSET && reason < SSL_AD_REASON_OFFSET + 256
        ? reason - SSL_AD_REASON_OFFSET : -1;
}
static inline void copenssl_context_select_protocol(
    SSL_CTX *context,
    int (*callback)(SSL *, const unsigned char **, unsigned char *, const unsigned char *, unsigned int, void *)
) {
    SSL_CTX_set_alpn_select_cb(context, callback, (void *)0);
}
