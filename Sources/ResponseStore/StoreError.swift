import SQLiteDatabase

/// An error of a store, or of one statement on it.
public typealias StoreError = DatabaseError
