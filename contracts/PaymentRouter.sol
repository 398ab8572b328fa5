// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

/// @title Takes payments of orders that its operator signed.
/// @notice A wallet that has approved this contract pays an order in one call: exactly its amount goes from the payer to
/// the order's payee, once, or nothing happens. The contract never holds money, has no owner and cannot be changed.
contract PaymentRouter is EIP712, ReentrancyGuard {
    using SafeERC20 for IERC20;

    /// @param paymentRef keccak256 of the payment intent's id: paid once, whatever else its orders say.
    /// @param token ERC-20 contract.
    /// @param payTo Who gets the money.
    /// @param amount Atomic units of the token.
    /// @param deadline Last second, in Unix time, at which the order can be paid.
    struct Order {
        bytes32 paymentRef;
        address token;
        address payTo;
        uint256 amount;
        uint256 deadline;
    }

    bytes32 public constant ORDER_TYPEHASH =
        keccak256("Order(bytes32 paymentRef,address token,address payTo,uint256 amount,uint256 deadline)");

    /// @notice Whose signature makes an order one.
    address public immutable operator;

    /// @notice Whether a payment has been made here.
    mapping(bytes32 paymentRef => bool) public isPaid;

    /// @notice An order was paid; right behind the token's own `Transfer`.
    event PaymentReceived(
        bytes32 indexed paymentRef,
        address indexed payer,
        address indexed token,
        address payTo,
        uint256 amount
    );

    /// @notice A router without an operator could never be paid through.
    error OperatorMissing();
    /// @notice The order could be paid until `deadline`.
    error OrderExpired(uint256 deadline);
    /// @notice The operator did not sign this order, for this contract on this chain.
    error OrderNotSigned();
    /// @notice The payment was made already.
    error AlreadyPaid(bytes32 paymentRef);
    /// @notice The token took `taken` from the payer and gave `given` to the payee, where both should be `amount`.
    error AmountNotExact(uint256 amount, uint256 taken, uint256 given);

    /// @param operator_ Address of the key that signs orders.
    constructor(address operator_) EIP712("Farebox", "1") {
        require(operator_ != address(0), OperatorMissing());
        operator = operator_;
    }

    /// @notice Pays an order with the caller's money. Needs an allowance of `order.amount` for this contract.
    /// @param order What the operator asks to be paid.
    /// @param operatorSignature 65 bytes over `digestOf(order)`.
    function pay(Order calldata order, bytes calldata operatorSignature) external nonReentrant {
        require(block.timestamp <= order.deadline, OrderExpired(order.deadline));
        require(_signer(order, operatorSignature) == operator, OrderNotSigned());
        require(!isPaid[order.paymentRef], AlreadyPaid(order.paymentRef));
        isPaid[order.paymentRef] = true;
        _moveExactly(IERC20(order.token), order.payTo, order.amount);
        emit PaymentReceived(order.paymentRef, msg.sender, order.token, order.payTo, order.amount);
    }

    /// @notice The EIP-712 digest that the operator signs.
    function digestOf(Order calldata order) public view returns (bytes32) {
        bytes32 structHash = keccak256(
            abi.encode(
                ORDER_TYPEHASH,
                order.paymentRef,
                order.token,
                order.payTo,
                order.amount,
                order.deadline
            )
        );
        return _hashTypedDataV4(structHash);
    }

    /// The zero address, which is no operator, for bytes that are no signature.
    function _signer(Order calldata order, bytes calldata signature) private view returns (address signer) {
        (signer, , ) = ECDSA.tryRecoverCalldata(digestOf(order), signature);
    }

    /// What both balances say counts, not what the token answers: some tokens keep a fee.
    function _moveExactly(IERC20 token, address payTo, uint256 amount) private {
        uint256 payerHad = token.balanceOf(msg.sender);
        uint256 payeeHad = token.balanceOf(payTo);
        token.safeTransferFrom(msg.sender, payTo, amount);
        uint256 taken = payerHad - token.balanceOf(msg.sender);
        uint256 given = token.balanceOf(payTo) - payeeHad;
        require(taken == amount && given == amount, AmountNotExact(amount, taken, given));
    }
}
